import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Checked } from './checked.tsx'
import styles from './kit.module.css'
import { WhoMay } from './offer.tsx'

/** The fields in which something was changed, by their names: a text, or whether a box is checked. */
export type Changed = Readonly<Record<string, string | boolean>>

/**
 * A form that changes settings, for those who may. Others read the fields and who may change them. If somebody else
 * changes the same thing meanwhile, the fields follow, except those in which something was typed, and the form says so
 * before it overwrites anything.
 * Only what was changed is sent, so that nothing else of theirs is overwritten.
 * @param children the fields, named
 */
export function SettingsForm({
  title = 'Settings',
  button = 'Save',
  change,
  mayChange,
  whoMay,
  latest,
  onSubmit,
  children,
}: {
  /** Names the form. */
  readonly title?: string
  readonly button?: string
  readonly change: {
    readonly isPending: boolean
    readonly isSuccess: boolean
    readonly error: unknown
  }
  readonly mayChange: boolean
  /** Such as "An owner". */
  readonly whoMay: string
  /** Reads again what the server has, so that the fields get it. */
  readonly latest: () => Promise<unknown>
  readonly onSubmit: (changed: Changed) => void
  readonly children: ReactNode
}) {
  const form = useRef<HTMLFormElement>(null)
  /** What the server had in a field when something was typed in it. */
  const typedOver = useRef(new Map<string, string | boolean>())
  const [overtaken, setOvertaken] = useState('')
  const [isChecking, setChecking] = useState(false)
  /** Known before `isChecking` is drawn. */
  const checks = useRef(false)
  // A field follows its default value until something is typed in it. What React sets at first counts as typed.
  useEffect(() => form.current?.reset(), [])
  useEffect(() => {
    if (!change.isSuccess || form.current === null) return
    // What was typed is saved, so that it may follow the server again. What was typed since then stays.
    const since = fieldsOf(form.current).filter(isChanged)
    typedOver.current = new Map(since.map((field) => [field.name, storedIn(field)]))
    if (since.length === 0) form.current.reset()
  }, [change.isSuccess])
  const changedByOthers = (fields: readonly HTMLInputElement[]) =>
    fields
      .filter(
        (field) =>
          isChanged(field) && (typedOver.current.get(field.name) ?? storedIn(field)) !== storedIn(field),
      )
      .map((field) => `${labelOf(field)}: ${wordsOf(storedIn(field))}`)
      .join('; ')
  // The fields get what the server has with each drawing.
  useEffect(() => {
    if (form.current !== null) setOvertaken(changedByOthers(fieldsOf(form.current)))
  })
  const submit = async (fields: readonly HTMLInputElement[]) => {
    if (checks.current) return
    checks.current = true
    setChecking(true)
    await latest()
    // What was read is drawn by now.
    await new Promise((resolve) => setTimeout(resolve))
    checks.current = false
    setChecking(false)
    const others = changedByOthers(fields)
    // Said first. Who saves again has read it.
    if (others !== '' && others !== overtaken) return
    const changed = fields.filter(isChanged)
    onSubmit(Object.fromEntries(changed.map((field) => [field.name, typedIn(field)])))
  }
  const remember = ({ target }: FormEvent) => {
    if (!(target instanceof HTMLInputElement) || typedOver.current.has(target.name)) return
    typedOver.current.set(target.name, storedIn(target))
  }
  return (
    <form
      ref={form}
      aria-label={title}
      onInput={remember}
      onSubmit={(event) => {
        event.preventDefault()
        void submit(fieldsOf(event.currentTarget))
      }}
    >
      {mayChange ? null : <WhoMay who={whoMay} to={`change these ${title.toLowerCase()}`} />}
      <Checked error={change.error}>{children}</Checked>
      <p role="status">{change.isSuccess ? 'Saved.' : ''}</p>
      <p role="status" className={styles.problem}>
        {overtaken === ''
          ? ''
          : `Somebody else has changed this meanwhile. ${overtaken}. If you save, your value replaces it.`}
      </p>
      {mayChange ? (
        <Button
          type="submit"
          kind="main"
          data-offer={`change these ${title.toLowerCase()}`}
          disabled={change.isPending || isChecking}
        >
          {button}
        </Button>
      ) : null}
    </form>
  )
}

/** The named texts and boxes. */
function fieldsOf(form: HTMLFormElement): HTMLInputElement[] {
  return [...form.elements].filter(
    (one): one is HTMLInputElement =>
      one instanceof HTMLInputElement && one.name !== '' && one.type !== 'radio',
  )
}

const typedIn = (field: HTMLInputElement) => (field.type === 'checkbox' ? field.checked : field.value)
const storedIn = (field: HTMLInputElement) =>
  field.type === 'checkbox' ? field.defaultChecked : field.defaultValue
const isChanged = (field: HTMLInputElement) => typedIn(field) !== storedIn(field)
const labelOf = ({ labels }: HTMLInputElement) => labels?.[0]?.textContent.trim() ?? ''
const wordsOf = (stored: string | boolean) =>
  stored === true ? 'yes' : stored === false ? 'no' : `“${stored}”`
