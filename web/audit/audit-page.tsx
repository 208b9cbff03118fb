import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { inOrganization, pageOf, type Page } from '../api/client.ts'
import { live } from '../api/live.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import { Form, type TextOf } from '../kit/form.tsx'
import styles from '../kit/kit.module.css'
import { PagedTable } from '../kit/paged-table.tsx'
import { Time } from '../kit/time.tsx'
import { auditSearch } from '../searches.ts'

const FROM = '/shell/$organization/audit'

type AuditEvent = {
  readonly 'created-at': string
  readonly action: string
  readonly actor: { readonly kind: string; readonly id: string | null; readonly name: string | null }
  readonly resource: { readonly type: string; readonly id: string }
  readonly address: string | null
  readonly 'request-id': string | null
  readonly details: Readonly<Record<string, unknown>> | null
}

type AuditFilter = {
  readonly actor?: string | undefined
  readonly action?: string | undefined
  readonly resource?: string | undefined
  readonly request?: string | undefined
  readonly output?: string | undefined
  readonly address?: string | undefined
}

const auditQuery = (organization: string, filter: AuditFilter, page: number) =>
  queryOptions({
    queryKey: ['audit', organization, filter, page],
    ...live<Page<AuditEvent>>(
      pageOf(inOrganization(organization, 'audit-events'), page, 50, {
        'filter[actor]': filter.actor,
        'filter[action]': filter.action,
        'filter[resource-id]': filter.resource,
        'filter[request-id]': filter.request,
        'filter[output]': filter.output,
        'filter[address]': filter.address,
      }),
    ),
    placeholderData: keepPreviousData,
  })

/** Who did what in the organization, newest first. */
export function AuditPage() {
  const { organization } = useParams({ from: FROM })
  const { page = 1, ...filter } = auditSearch(useSearch({ from: FROM }))
  const navigate = useNavigate({ from: '/$organization/audit' })
  const events = useQuery(auditQuery(organization, filter, page))
  const ask = (textOf: TextOf) => {
    const given = (name: string) => textOf(name).trim() || undefined
    void navigate({
      search: {
        actor: given('actor'),
        action: given('action'),
        resource: given('resource'),
        request: given('request'),
        output: given('output'),
        address: given('address'),
      },
    })
  }
  return (
    <>
      <h1>Audit trail</h1>
      <Form className={styles.inline} onSubmit={ask} key={JSON.stringify(filter)}>
        <Field label="Who: name or id" name="actor" defaultValue={filter.actor} />
        <Field label="Action, such as team.create" name="action" defaultValue={filter.action} />
        <Field label="Id of the changed object" name="resource" defaultValue={filter.resource} />
        <Field label="Request id" name="request" defaultValue={filter.request} />
        <Field label="Revealed output" name="output" defaultValue={filter.output} />
        <Field label="Address of the client" name="address" defaultValue={filter.address} />
        <Button type="submit">Find</Button>
      </Form>
      <PagedTable
        query={events}
        columns={['At', 'Who', 'From', 'Action', 'To what']}
        empty="No event matches."
        page={page}
        onShow={(number) => void navigate({ search: { ...filter, page: number } })}
      >
        {({ data }) =>
          data.map(({ id, attributes }) => (
            <tr key={id}>
              <td>
                <Time at={attributes['created-at']} />
              </td>
              <td dir="auto">{attributes.actor.name ?? attributes.actor.id ?? attributes.actor.kind}</td>
              <td>{attributes.address ?? '–'}</td>
              <th scope="row">
                <code>{attributes.action}</code>
              </th>
              <td>
                {attributes.resource.type} <code>{attributes.resource.id}</code>
                {typeof attributes.details?.['name'] === 'string' ? (
                  <>
                    {' '}
                    <span dir="auto">{attributes.details['name']}</span>
                  </>
                ) : null}
                {attributes.details === null ? null : (
                  <details>
                    <summary>Details</summary>
                    <pre className={styles.details}>{JSON.stringify(attributes.details, null, 2)}</pre>
                    request <code>{attributes['request-id'] ?? '–'}</code>
                  </details>
                )}
              </td>
            </tr>
          ))
        }
      </PagedTable>
    </>
  )
}
