import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { accountQuery } from '../api/session.ts'
import { Button } from '../kit/button.tsx'
import type { Chosen } from '../kit/choice.tsx'
import { Field } from '../kit/field.tsx'
import { Form, type TextOf } from '../kit/form.tsx'
import styles from '../kit/kit.module.css'
import { EmptyPage, Pager } from '../kit/pager.tsx'
import { Answered } from '../kit/states.tsx'
import { nameQuery } from '../users/name-query.ts'
import { AccessAnswer } from './access-answer.tsx'
import { effectiveAccessQuery, type AccessQuestion } from './access-grants-query.ts'
import { useMayAsk } from './ask-link.tsx'
import { TeamChoice } from './team-choice.tsx'

const FROM = '/shell/$organization/access'

/** What somebody may do, and which grants add up to it. The question is in the address, so it can be sent to others. */
export function AccessPage() {
  const { organization } = useParams({ from: FROM })
  const { user: asked, team, workspace, project, page = 1 } = useSearch({ from: FROM })
  const question = { user: asked, team, workspace, project }
  const navigate = useNavigate({ from: '/$organization/access' })
  const user = useQuery(accountQuery).data?.data.attributes.username
  const mayAsk = useMayAsk(organization)
  const isAsked = question.user !== undefined || question.team !== undefined
  return (
    <>
      <h1>Access</h1>
      {mayAsk === false ? (
        <p>
          You may ask about yourself; owners may ask about everybody.{' '}
          <Link to="/$organization/access" params={{ organization }} search={{ user }}>
            What you may do
          </Link>
        </p>
      ) : null}
      <QuestionForm
        key={`form ${JSON.stringify(question)}`}
        organization={organization}
        question={question}
        onAsk={(search) => void navigate({ search })}
      />
      {isAsked ? (
        <Answers
          // Another question begins without the answer to this one.
          key={JSON.stringify(question)}
          organization={organization}
          question={question}
          page={page}
          onShow={(number) => void navigate({ search: { ...question, page: number } })}
        />
      ) : (
        <p className={styles.dim}>
          Name a person or a team to see what they may do and why. Without a workspace or a project you see
          all workspaces.
        </p>
      )}
    </>
  )
}

function QuestionForm({
  organization,
  question,
  onAsk,
}: {
  readonly organization: string
  readonly question: AccessQuestion
  readonly onAsk: (question: AccessQuestion) => void
}) {
  const [isTeam, setTeamAsked] = useState(question.team !== undefined)
  const [isProject, setProjectAsked] = useState(question.project !== undefined)
  const [team, setTeam] = useState<Chosen | undefined>(
    question.team === undefined ? undefined : { id: question.team, name: question.team },
  )
  const ask = (textOf: TextOf) => {
    const place = textOf('place').trim() || undefined
    const whose = isTeam ? { team: team?.id } : { user: textOf('user').trim() || undefined }
    onAsk({ ...whose, ...(isProject ? { project: place } : { workspace: place }) })
  }
  return (
    <Form onSubmit={ask}>
      <div className={styles.inline}>
        <label className={styles.field}>
          Ask about
          <select
            value={isTeam ? 'team' : 'person'}
            onChange={(event) => setTeamAsked(event.target.value === 'team')}
          >
            <option value="person">a person</option>
            <option value="team">a team, by its token</option>
          </select>
        </label>
        {isTeam ? null : (
          <Field label="Person: user name or id" name="user" defaultValue={question.user} required />
        )}
        <label className={styles.field}>
          On
          <select
            value={isProject ? 'project' : 'workspace'}
            onChange={(event) => setProjectAsked(event.target.value === 'project')}
          >
            <option value="workspace">a workspace</option>
            <option value="project">a project</option>
          </select>
        </label>
        <Field
          label={`Which ${isProject ? 'project' : 'workspace'}: name or id`}
          name="place"
          defaultValue={question.workspace ?? question.project}
        />
        <Button type="submit" kind="main" disabled={isTeam && team === undefined}>
          Ask
        </Button>
      </div>
      {isTeam ? <TeamChoice organization={organization} chosen={team} onChoose={setTeam} /> : null}
    </Form>
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
  const team = useQuery({
    ...nameQuery('teams', question.team ?? ''),
    enabled: question.team !== undefined && found.data !== undefined,
  })
  const mayAsk = useMayAsk(organization)
  const whose = question.user ?? `The token of the team ${team.data ?? ''}`
  return (
    <Answered
      query={found}
      isEmpty={({ data }) => data.length === 0}
      // Who may ask about everybody is refused only for what is not there.
      hidden={
        mayAsk === true
          ? 'The organization has no person, workspace or project with this name. Check the names.'
          : undefined
      }
      empty={<EmptyPage page={page} empty="There is no workspace that you may see." onShow={onShow} />}
    >
      {({ data, meta: { pagination } }) => (
        <>
          {data.map(({ id, attributes }) => (
            <AccessAnswer
              key={id}
              organization={organization}
              whose={whose}
              on={question.project === undefined ? 'workspaces' : 'projects'}
              access={attributes}
              isOpen={data.length === 1}
            />
          ))}
          <Pager page={page} pagination={pagination} isBusy={found.isPlaceholderData} onShow={onShow} />
        </>
      )}
    </Answered>
  )
}
