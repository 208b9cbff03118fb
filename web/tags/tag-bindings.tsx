import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query'
import { useChange } from '../api/change.ts'
import { request, type Resource } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Field } from '../kit/field.tsx'
import { Form, type TextOf } from '../kit/form.tsx'
import styles from '../kit/kit.module.css'
import { Offer } from '../kit/offer.tsx'
import { Answered, Failed } from '../kit/states.tsx'
import { Table } from '../kit/table.tsx'

const CHANGE = 'set and remove tags'

type Tag = { readonly key: string; readonly value: string }
type Bindings = { readonly data: readonly (Resource<Tag> & { readonly links?: object })[] }

const tagBindingsQuery = (of: string) =>
  queryOptions({
    queryKey: ['tag-bindings', of],
    queryFn: ({ signal }) => request<Bindings>(`${of}/effective-tag-bindings`, { signal }),
  })

const bodyOf = (tags: readonly Tag[]) => ({
  data: tags.map(({ key, value }) => ({ type: 'tag-bindings', attributes: { key, value } })),
})

const put = (of: string, tag: Tag) => request(`${of}/tag-bindings`, { method: 'PATCH', body: bodyOf([tag]) })

/** The interface deletes no single tag: it replaces all by those that stay, as they are now. */
async function remove(of: string, key: string): Promise<void> {
  const { data } = await request<Bindings>(`${of}/tag-bindings`)
  const kept = data.map(({ attributes }) => attributes).filter((tag) => tag.key !== key)
  await request(`${of}/relationships/tag-bindings`, { method: 'PATCH', body: bodyOf(kept) })
}

/**
 * The key-value tags of a workspace or project, and the form that changes them.
 *
 * @param of its path below /api/v2
 */
export function TagBindings({
  of,
  mayChange,
  whoMay,
}: {
  readonly of: string
  readonly mayChange: boolean
  /** Such as "An owner". */
  readonly whoMay: string
}) {
  const bindings = useQuery(tagBindingsQuery(of))
  const queries = useQueryClient()
  const change = useChange({
    mutationFn: (act: () => Promise<unknown>) => act(),
    onSettled: () => queries.invalidateQueries({ queryKey: ['tag-bindings'] }),
  })
  const submit = (textOf: TextOf, empty: () => void) => {
    const tag = { key: textOf('key'), value: textOf('value') }
    change.mutate(() => put(of, tag), { onSuccess: empty })
  }
  return (
    <section aria-label="Tags">
      <h2>Tags</h2>
      <Answered query={bindings} isEmpty={({ data }) => data.length === 0} empty="No tags yet.">
        {({ data }) => (
          <Table columns={['Key', 'Value', 'From', 'Actions']}>
            {data.map(({ id, attributes: { key, value }, links }) => (
              <tr key={id}>
                <th scope="row" dir="auto">
                  {key}
                </th>
                <td dir="auto">{value === '' ? '–' : value}</td>
                <td>{links === undefined ? 'here' : 'the project'}</td>
                <td>
                  {links === undefined && mayChange ? (
                    <Button
                      data-offer={CHANGE}
                      aria-label={`Remove the tag ${key}`}
                      disabled={change.isPending}
                      onClick={() => change.mutate(() => remove(of, key))}
                    >
                      Remove
                    </Button>
                  ) : (
                    '–'
                  )}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Answered>
      {change.isError ? <Failed error={change.error} /> : null}
      <Offer may={mayChange} who={whoMay} to={CHANGE}>
        <Form className={styles.inline} onSubmit={submit} aria-label="Set a tag">
          <Field label="Key of the tag" name="key" required maxLength={128} />
          <Field label="Value of the tag" name="value" maxLength={256} />
          <Button type="submit" disabled={change.isPending}>
            Set
          </Button>
        </Form>
      </Offer>
    </section>
  )
}
