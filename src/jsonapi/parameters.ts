/** A query parameter as the documentation describes it; a text alone describes one that takes any text. */
export type QueryParameter =
  | string
  | {
      readonly description: string
      /** The only values that it takes. */
      readonly values?: readonly string[]
      /** Several of them, separated by commas. */
      readonly isList?: true
      readonly format?: 'date-time'
      readonly isRequired?: true
    }

export function includes(...values: string[]): QueryParameter {
  return { description: 'Related resources to include, separated by commas', values, isList: true }
}

export function choice(description: string, ...values: string[]): QueryParameter {
  return { description, values }
}

export function flag(description: string): QueryParameter {
  return choice(description, 'true', 'false')
}

export function commaSeparated(description: string): QueryParameter {
  return { description, isList: true }
}

export function moment(description: string): QueryParameter {
  return { description, format: 'date-time' }
}
