import { useQuery } from '@tanstack/react-query'
import styles from '../kit/kit.module.css'
import { Empty, Failed, Loading } from '../kit/states.tsx'
import { jsonOf } from './exact.ts'
import { outputsQuery } from './outputs-query.ts'
import { Secret } from './secret.tsx'

export function OutputsTable({ workspaceId }: { readonly workspaceId: string }) {
  const outputs = useQuery(outputsQuery(workspaceId))
  if (outputs.isError) return <Failed error={outputs.error} onRetry={() => void outputs.refetch()} />
  if (outputs.data === undefined) return <Loading />
  if (outputs.data.data.length === 0) {
    return (
      <Empty>
        No outputs. They appear after the first <code>tofu apply</code> of a configuration that has some.
      </Empty>
    )
  }
  return (
    <table className={styles.table}>
      <thead>
        <tr>
          <th scope="col">Output</th>
          <th scope="col">Value</th>
          <th scope="col">Type</th>
        </tr>
      </thead>
      <tbody>
        {outputs.data.data.map(({ id, attributes: { name, sensitive, type, value } }) => (
          <tr key={id}>
            <th scope="row" className={styles.mono} dir="auto">
              {name}
            </th>
            <td>{sensitive ? <Secret id={id} name={name} /> : <Value value={value} />}</td>
            <td className={sensitive ? styles.secret : styles.dim}>
              {sensitive ? '⚿ sensitive ' : ''}
              {type}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

export function Value({ value }: { readonly value: unknown }) {
  const isText = typeof value === 'string'
  return (
    <span className={styles.mono} dir={isText ? 'auto' : 'ltr'} style={{ whiteSpace: 'pre-wrap' }}>
      {isText ? value : jsonOf(value)}
    </span>
  )
}
