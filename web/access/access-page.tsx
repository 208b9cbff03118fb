import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import styles from '../kit/kit.module.css'
import { Pager } from '../kit/pager.tsx'
import { Answered } from '../kit/states.tsx'
import { textsOf } from '../sign-in/form.ts'
import { effectiveAccessQuery, type AccessQuestion, type EffectiveAccess } from './access-grants-query.ts'
import shape from './access.module.css'

const FROM = '/shell/$organization/access'

/** What somebody may do, and which grants add up to it. The question is in the address, so it can be sent to others. */
export function AccessPage() {
  const { organization } = useParams({ from: FROM })
  const { page = 1, ...question } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: '/$organization/access' })
  const isAsked = question.user !== undefined || question.team !== undefined
  const ask = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const text = textsOf(event.currentTarget)
    const user = text('user').trim()
    const workspace = text('workspace').trim() || undefined
    const whose = user === '' ? { team: question.team } : { user }
    void navigate({ search: { ...whose, workspace } })
  }
  return (
    <>
      <h1>Access</h1>
      <form className={shape.question} onSubmit={ask} key={JSON.stringify(question)}>
        <Field label="Whose: user name or id" name="user" defaultValue={question.user} />
        <Field label="On which workspace: name or id" name="workspace" defaultValue={question.workspace} />
        <Button type="submit" kind="main">
          Ask
        </Button>
      </form>
      {isAsked ? (
        <Answers
          organization={organization}
          question={question}
          page={page}
          onShow={(number) => void navigate({ search: { ...question, page: number } })}
        />
      ) : (
        <p className={styles.dim}>
          Name a person to see what they may do and why. Without a workspace you see all of them.
        </p>
      )}
    </>
  )
}

/** A page of what somebody may do, each with its reasons. */
export function Answers({
  organization,
  question,
  page,
  onShow,
}: {
  readonly organization: string
  readonly question: AccessQuestion
  readonly page: number
  readonly onShow: (page: number) => void
}) {
  const found = useQuery(effectiveAccessQuery(organization, question, page))
  return (
    <Answered
      query={found}
      isEmpty={({ data }) => data.length === 0}
      empty="There is no workspace that you may see."
    >
      {({ data, meta: { pagination } }) => (
        <>
          {data.map(({ id, attributes }) => (
            <Answer key={id} access={attributes} question={question} isOpen={data.length === 1} />
          ))}
          <Pager page={page} next={pagination['next-page']} onShow={onShow} />
        </>
      )}
    </Answered>
  )
}

function Answer({
  access: { name, level, may, grants },
  question,
  isOpen,
}: {
  readonly access: EffectiveAccess
  readonly question: AccessQuestion
  readonly isOpen: boolean
}) {
  return (
    <details className={shape.answer} open={isOpen}>
      <summary>
        <span dir="auto">{question.user ?? 'The token of the team'}</span> has{' '}
        <strong className={styles.mono}>{level}</strong> on <span dir="auto">{name}</span>
      </summary>
      <ul className={shape.sentences}>
        {Object.entries(may).map(([action, isAllowed]) => (
          <li key={action} className={isAllowed ? shape.gain : styles.dim}>
            {isAllowed ? '✓ may ' : '✗ may not '}
            {action}
          </li>
        ))}
      </ul>
      <h2>Why</h2>
      {grants.length === 0 ? (
        <p className={styles.dim}>No grant and no membership gives anything here.</p>
      ) : null}
      <ul>
        {grants.map((grant) => (
          <li key={`${grant.source} ${grant.id ?? ''} ${grant.team?.id ?? ''} ${grant.flag ?? ''}`}>
            {reasonOf(grant)}{' '}
            <span className={styles.dim}>
              gives {grant.gives.length === 0 ? 'nothing' : grant.gives.join(', ')}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}

function reasonOf({ source, team, flag, access }: EffectiveAccess['grants'][number]): string {
  const of = team === undefined ? '' : `the team ${team.name}`
  switch (source) {
    case 'site-administrator':
      return 'site administrator'
    case 'organization-member':
      return 'member of the organization'
    case 'organization-owner':
      return 'owner of the organization'
    case 'organization-access':
      return `${of}: permission ${flag ?? ''} in the organization`
    case 'team-projects':
      return `${of}: access ${access ?? ''} on the project`
    default:
      return `${of}: access ${access ?? ''} on the workspace`
  }
}
