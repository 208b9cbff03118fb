import type { ComponentProps } from 'react'

/** Reads the text of a field by its name. */
export type TextOf = (name: string) => string

type Props = Omit<ComponentProps<'form'>, 'onSubmit'> & {
  readonly onSubmit: (textOf: TextOf, empty: () => void) => void
}

/** A form that the browser does not send. `onSubmit` gets what reads the fields, and what empties the form. */
export function Form({ onSubmit, ...rest }: Props) {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault()
        const form = event.currentTarget
        const data = new FormData(form)
        const textOf = (name: string) => {
          const value = data.get(name)
          return typeof value === 'string' ? value : ''
        }
        onSubmit(textOf, () => form.reset())
      }}
    />
  )
}
