import { useState } from 'react'
import { Button } from './button.tsx'
import styles from './kit.module.css'
import { messageOf } from './states.tsx'

const DONE_MS = 2_000

/** Copies a text that is known or fetched on the click. Where the browser cannot copy, the text stays selected. */
export function Copy({
  what,
  text,
}: {
  /** What is copied, for the button's name: "address". */
  readonly what: string
  readonly text: () => string | Promise<string>
}) {
  const [isBusy, setBusy] = useState(false)
  const [isDone, setDone] = useState(false)
  const [problem, setProblem] = useState('')
  const [byHand, setByHand] = useState<string>()
  const copy = async () => {
    setProblem('')
    setByHand(undefined)
    setBusy(true)
    try {
      const copied = await text()
      if (!(await write(copied))) {
        setByHand(copied)
        return
      }
      setDone(true)
      setTimeout(() => setDone(false), DONE_MS)
    } catch (error) {
      setProblem(messageOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      <Button
        aria-label={`${isDone ? 'Copied' : 'Copy'} ${what}`}
        disabled={isBusy}
        onClick={() => void copy()}
      >
        {isDone ? 'Copied' : 'Copy'}
      </Button>
      <span role="status" className={styles.dim}>
        {isDone ? <span className={styles.unseen}>it is in the clipboard</span> : null}
        {byHand === undefined ? null : (
          <>
            {' '}
            <textarea
              readOnly
              rows={1}
              aria-label={what}
              value={byHand}
              ref={(field) => field?.select()}
              onBlur={() => setByHand(undefined)}
            />{' '}
            press Ctrl-C
          </>
        )}
      </span>
      {problem === '' ? null : (
        <span className={styles.problem} role="alert">
          {' '}
          {problem}
        </span>
      )}
    </>
  )
}

/** Browsers have no clipboard for pages on plain http; there an older way still works. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.readOnly = true
    document.body.append(field)
    field.select()
    // oxlint-disable-next-line typescript/no-deprecated -- the only way where there is no clipboard
    const isCopied = document.execCommand('copy')
    field.remove()
    return isCopied
  }
}
