import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import styles from '../kit/kit.module.css'
import shape from './find.module.css'
import { useFound, type Found } from './found.ts'

const SETTLED_MS = 150

/** Finds anything by its name. The arrows choose, Enter goes there, Escape closes. */
export function FindDialog({
  organization,
  onClose,
}: {
  readonly organization: string | undefined
  readonly onClose: () => void
}) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const [isEntered, setEntered] = useState(false)
  const sought = useSettled(text)
  const { found, isSearching } = useFound(organization, sought)
  const isReady = sought === text && !isSearching
  const active = found[Math.min(chosen, found.length - 1)]
  useEffect(() => dialog.current?.showModal(), [])
  const go = (one: Found | undefined) => {
    if (one === undefined) return
    dialog.current?.close()
    void one.go()
  }
  useEffect(() => {
    if (!isEntered || !isReady) return
    setEntered(false)
    go(active)
  })
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) {
      event.preventDefault()
      setChosen((before) => (before + step + found.length) % Math.max(found.length, 1))
    }
    // Typed faster than the server answers: it goes to what is found then.
    if (event.key === 'Enter') setEntered(true)
  }
  return (
    <dialog
      ref={dialog}
      className={`${styles.dialog} ${shape.find}`}
      aria-label="Find"
      closedby="any"
      onClose={onClose}
    >
      <input
        className={shape.text}
        role="combobox"
        aria-label="Find a page, team, workspace, project, person or request id"
        aria-expanded="true"
        aria-controls="found"
        aria-autocomplete="list"
        aria-activedescendant={active === undefined ? undefined : `found-${found.indexOf(active)}`}
        placeholder="Name, or a request id"
        autoComplete="off"
        spellCheck={false}
        maxLength={255}
        value={text}
        onChange={(event) => {
          setText(event.target.value)
          setChosen(0)
          setEntered(false)
        }}
        onKeyDown={press}
      />
      <ul id="found" role="listbox" aria-label="Found" className={shape.found}>
        {found.map((one, index) => (
          <Option key={`${one.kind} ${one.id}`} index={index} one={one} isActive={one === active} onGo={go} />
        ))}
      </ul>
      <p role="status" className={styles.dim}>
        {!isReady
          ? 'Searching …'
          : found.length === 0
            ? 'Nothing that you may see has this name.'
            : `${found.length} found`}
      </p>
    </dialog>
  )
}

function Option({
  one,
  index,
  isActive,
  onGo,
}: {
  readonly one: Found
  readonly index: number
  readonly isActive: boolean
  readonly onGo: (one: Found) => void
}) {
  const item = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isActive) item.current?.scrollIntoView({ block: 'nearest' })
  }, [isActive])
  return (
    // The keys are those of the field, which keeps the focus.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
    <li ref={item} id={`found-${index}`} role="option" aria-selected={isActive} onClick={() => onGo(one)}>
      <span dir="auto">{one.name}</span> <span className={styles.dim}>{one.kind}</span>
    </li>
  )
}

/** The text when nothing was typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
