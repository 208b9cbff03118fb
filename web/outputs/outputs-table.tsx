import { useQuery } from '@tanstack/react-query'
import styles from '../kit/kit.module.css'
import { Answered } from '../kit/states.tsx'
import { jsonOf } from './exact.ts'
import { outputsQuery } from './outputs-query.ts'
import { Secret } from './secret.tsx'

export function OutputsTable({ workspaceId }: { readonly workspaceId: string }) {
  const outputs = useQuery(outputsQuery(workspaceId))
  return (
    <Answered
      query={outputs}
      isEmpty={({ data }) => data.length === 0}
      empty={
        <>
          No outputs. They appear after the first <code>tofu apply</code> of a configuration that has some.
        </>
      }
    >
      {({ data }) => (
        <table className={styles.table}>
          <thead>
            <tr>
              <th scope="col">Output</th>
              <th scope="col">Value</th>
              <th scope="col">Type</th>
            </tr>
          </thead>
          <tbody>
            {data.map(({ id, attributes: { name, sensitive, type, value } }) => (
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
      )}
    </Answered>
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
