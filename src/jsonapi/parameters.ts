/** A query parameter in the API description. A plain text describes a parameter that takes any text. */
export type QueryParameter =
  | string
  | {
      readonly description: string
      /** The only allowed values. */
      readonly values?: readonly string[]
      /** It takes several values, separated by commas. */
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
