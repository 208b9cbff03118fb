import { useState, type ReactNode } from 'react'
import { Button } from '../kit/button.tsx'
import { Form } from '../kit/form.tsx'
import styles from '../kit/kit.module.css'
import { Failed } from '../kit/states.tsx'
import { AccessPreview } from './access-preview.tsx'
import shape from './access.module.css'
import type { Change } from './changes.ts'
import {
  attributesOf,
  choiceNames,
  choices,
  partsOf,
  stateVersionParts,
  type Attributes,
  type Choice,
} from './levels.ts'
import { useAccessChange } from './use-access-change.ts'

/** Chooses what a grant gives, shows what that changes, and saves it. */
export function GrantForm({
  on,
  title,
  initial,
  gives,
  changeOf,
  children,
  onDone,
}: {
  readonly on: 'workspaces' | 'projects'
  readonly title: string
  readonly initial: Choice
  /** What the grant gives by now, by the names of the actions. */
  readonly gives: readonly string[]
  /** Undefined while something is missing, such as the team. */
  readonly changeOf: (attributes: Attributes) => Change | undefined
  readonly children?: ReactNode
  readonly onDone: () => void
}) {
  const [choice, setChoice] = useState(initial)
  const [part, setPart] = useState(partsOf(gives).part)
  const [locks, setLocks] = useState(partsOf(gives).locks)
  const change = changeOf(attributesOf(on, choice, part, locks))
  const save = useAccessChange(onDone)
  const submit = () => {
    if (change !== undefined) save.mutate(change)
  }
  return (
    <Form className={shape.form} onSubmit={submit} aria-label={title}>
      <h2>{title}</h2>
      {children}
      <fieldset className={styles.choices}>
        <legend>What it gives</legend>
        {choiceNames(on).map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="choice"
              checked={choice === name}
              // The team, where it is chosen, comes first.
              autoFocus={children === undefined && choice === name}
              onChange={() => setChoice(name)}
            />{' '}
            {choices[name].label} <span className={styles.dim}>{choices[name][on]}</span>
          </label>
        ))}
      </fieldset>
      {choice === 'custom' ? (
        <fieldset className={styles.choices}>
          <legend>States and outputs</legend>
          {stateVersionParts.map((name) => (
            <label key={name}>
              <input type="radio" name="part" checked={part === name} onChange={() => setPart(name)} />{' '}
              <span className={styles.mono}>{name}</span>
            </label>
          ))}
          <label>
            <input type="checkbox" checked={locks} onChange={() => setLocks(!locks)} /> lock and unlock
          </label>
        </fieldset>
      ) : null}
      {change === undefined ? null : <AccessPreview change={change} />}
      {save.isError ? <Failed error={save.error} /> : null}
      <p>
        <Button onClick={onDone}>Discard</Button>{' '}
        <Button type="submit" kind="main" disabled={change === undefined || save.isPending}>
          Save
        </Button>
      </p>
    </Form>
  )
}
