import { useEffect, useState } from 'react'
import { isStatus } from '../api/errors.ts'
import { Button } from '../kit/button.tsx'
import styles from '../kit/kit.module.css'
import { reveal } from './outputs-query.ts'
import { Value } from './outputs-table.tsx'

const SHOWN_MS = 30_000

/** A sensitive output: hidden, shown by a click for half a minute, and hidden when the tab is. */
export function Secret({ id, name }: { readonly id: string; readonly name: string }) {
  const [shown, setShown] = useState<{ readonly value: unknown }>()
  const [problem, setProblem] = useState('')

  useEffect(() => {
    if (shown === undefined) return undefined
    const hide = () => setShown(undefined)
    const timer = setTimeout(hide, SHOWN_MS)
    document.addEventListener('visibilitychange', hide)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', hide)
    }
  }, [shown])

  const show = async () => {
    try {
      const { attributes } = await reveal(id)
      setShown({ value: attributes.value })
      setProblem('')
    } catch (error) {
      setProblem(isStatus(error, 404) ? 'You may not read it: it needs access read-outputs.' : String(error))
    }
  }

  return (
    <>
      {shown === undefined ? <span aria-hidden="true">••••••••••••</span> : <Value value={shown.value} />}{' '}
      <Button
        aria-label={`${shown === undefined ? 'Reveal' : 'Hide'} ${name}`}
        onClick={() => void (shown === undefined ? show() : setShown(undefined))}
      >
        {shown === undefined ? 'Reveal' : 'Hide'}
      </Button>
      {shown === undefined ? null : (
        <span className={styles.dim}> hidden again in 30 s · this is in the audit trail</span>
      )}
      {problem === '' ? null : (
        <span className={styles.problem} role="alert">
          {' '}
          {problem}
        </span>
      )}
    </>
  )
}
