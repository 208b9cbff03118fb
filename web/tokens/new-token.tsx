import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useChange } from '../api/change.ts'
import { request, resource, type One } from '../api/client.ts'
import { Button } from '../kit/button.tsx'
import { Checked } from '../kit/checked.tsx'
import { Copy } from '../kit/copy.tsx'
import { Field } from '../kit/field.tsx'
import { Form, type TextOf } from '../kit/form.tsx'
import styles from '../kit/kit.module.css'

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 90

type Created = { readonly token: string }

/**
 * Makes a token and shows it once. The text is in this dialog alone: in no address, storage or cache. Only Done closes the
 * dialog then, because the text cannot be had again.
 */
export function NewToken({ path, onDone }: { readonly path: string; readonly onDone: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const queries = useQueryClient()
  const make = useChange({
    mutationFn: async (attributes: object) =>
      (
        await request<One<Created>>(path, {
          method: 'POST',
          body: resource('authentication-tokens', attributes),
        })
      ).data.attributes,
    gcTime: 0,
  })
  useEffect(() => dialog.current?.showModal(), [])
  const submit = (textOf: TextOf) => {
    const days = Number(textOf('expired-at'))
    make.mutate({
      description: textOf('description'),
      ...(days > 0 ? { 'expired-at': new Date(Date.now() + days * DAY_MS).toISOString() } : {}),
    })
  }
  const done = () => {
    make.reset()
    void queries.invalidateQueries({ queryKey: ['tokens'] })
    onDone()
  }
  const created = make.data
  const mayLeave = created === undefined && !make.isPending
  return (
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-labelledby="new-token"
      closedby={mayLeave ? 'closerequest' : 'none'}
      onClose={() => (mayLeave ? done() : dialog.current?.showModal())}
    >
      {created === undefined ? (
        <Form onSubmit={submit}>
          <h2 id="new-token">New token</h2>
          <Checked error={make.error}>
            <Field label="What it is for" name="description" required maxLength={255} autoFocus />
            <Field
              label="Days until it expires"
              name="expired-at"
              type="number"
              min={1}
              max={3_650}
              defaultValue={DEFAULT_DAYS}
              required
            />
          </Checked>
          <p>
            <Button disabled={make.isPending} onClick={done}>
              Discard
            </Button>{' '}
            <Button type="submit" kind="main" disabled={make.isPending}>
              Create
            </Button>
          </p>
        </Form>
      ) : (
        <>
          <h2 id="new-token">The new token</h2>
          <p>You will not see this token again. Copy it to where it is used.</p>
          <Field label="Token" value={created.token} readOnly />
          <p>
            <Copy what="token" text={() => created.token} />
          </p>
          <Field
            label="For OpenTofu and Terraform, in the environment"
            value={`export TF_TOKEN_${window.location.hostname.replaceAll('-', '__').replaceAll('.', '_')}=${created.token}`}
            readOnly
          />
          <p>
            <Button kind="main" onClick={done}>
              Done
            </Button>
          </p>
        </>
      )}
    </dialog>
  )
}
