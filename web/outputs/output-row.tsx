import { useEffect, useState } from 'react'
import type { Resource } from '../api/client.ts'
import { isStatus } from '../api/errors.ts'
import { Button } from '../kit/button.tsx'
import { Copy } from '../kit/copy.tsx'
import styles from '../kit/kit.module.css'
import { Visible } from '../kit/visible.tsx'
import { messageOf } from '../kit/states.tsx'
import { copied, jsonOf } from './exact.ts'
import type { CopyForm } from './outputs-panel.tsx'
import shape from './outputs.module.css'
import { wholeValue, type NamedPreview } from './outputs-query.ts'
import { PreviewedValue, Value } from './value.tsx'
import { curlOf, hclOf, typeInWords } from './words.ts'

const SHOWN_SECONDS = 30
const MAY_NOT = 'Teams with the access read-outputs may read it.'

type Props = {
  readonly output: Resource<NamedPreview>
  readonly workspaceId: string
  readonly mayReveal: boolean
  readonly form: CopyForm
  readonly names: { readonly organization: string; readonly workspace: string } | undefined
}

export function OutputRow({ output, workspaceId, mayReveal, form, names }: Props) {
  const { id, attributes } = output
  const { name, sensitive } = attributes
  const secret = useSecret(id)
  const copy = async (): Promise<string> => {
    if (form === 'curl') return curlOf(window.location.origin, workspaceId)
    if (form === 'HCL (tfe_outputs)' && names !== undefined)
      return hclOf(names.organization, names.workspace, name)
    const value = await wholeValue(id)
    return form === 'JSON' ? jsonOf(value) : copied(value)
  }
  const mayCopy = mayReveal || form === 'curl' || form === 'HCL (tfe_outputs)'
  return (
    <tr>
      <th scope="row" className={styles.mono} dir="auto">
        <Visible text={name} />
      </th>
      <td>
        {!sensitive ? (
          <PreviewedValue preview={attributes} />
        ) : secret.shown === undefined ? (
          <>
            <span aria-hidden="true">••••••••••••</span>
            <span className={styles.unseen}>hidden</span>
          </>
        ) : (
          <>
            <Value value={secret.shown.value} />
            <span className={styles.dim}>
              {' '}
              hidden again in {SHOWN_SECONDS} s · this is in the audit trail
            </span>
          </>
        )}
        {secret.problem === '' ? null : (
          <span className={styles.problem} role="alert">
            {' '}
            {secret.problem}
          </span>
        )}
      </td>
      <td className={sensitive ? styles.secret : styles.dim}>
        {sensitive ? 'sensitive ' : ''}
        {typeInWords(attributes['detailed-type'])}
      </td>
      <td>
        <span className={shape.row}>
          {sensitive && mayReveal ? (
            <Button
              aria-label={`${secret.shown === undefined ? 'Reveal' : 'Hide'} ${name}`}
              disabled={secret.isBusy}
              onClick={() => void secret.toggle()}
            >
              {secret.shown === undefined ? 'Reveal' : 'Hide'}
            </Button>
          ) : null}
          {mayCopy ? <Copy what={name} text={copy} /> : null}
          {!mayReveal && sensitive ? <span className={styles.dim}>{MAY_NOT}</span> : null}
        </span>
      </td>
    </tr>
  )
}

/** The value of a sensitive output: fetched by a click, outside of every cache, and hidden by itself. */
function useSecret(id: string) {
  const [shown, setShown] = useState<{ readonly value: unknown }>()
  const [problem, setProblem] = useState('')
  const [isBusy, setBusy] = useState(false)
  useEffect(() => {
    if (shown === undefined) return undefined
    const hide = () => setShown(undefined)
    const timer = setTimeout(hide, SHOWN_SECONDS * 1_000)
    document.addEventListener('visibilitychange', hide)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', hide)
    }
  }, [shown])
  const toggle = async () => {
    setProblem('')
    if (shown !== undefined) {
      setShown(undefined)
      return
    }
    setBusy(true)
    try {
      setShown({ value: await wholeValue(id) })
    } catch (error) {
      setProblem(isStatus(error, 404) ? MAY_NOT : messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return { shown, problem, isBusy, toggle }
}
