/*
 * An object's type may have fewer keys than the object itself, so TypeScript types keys as plain text. These functions are for
 * objects that are written out in the source, such as tables of names.
 */

export function keysOf<T extends object>(table: T): (keyof T & string)[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return Object.keys(table) as (keyof T & string)[]
}

export function entriesOf<T extends object>(table: T): [keyof T & string, T[keyof T]][] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- see above
  return Object.entries(table) as [keyof T & string, T[keyof T]][]
}

export function isKeyOf<T extends object>(table: T, text: string): text is keyof T & string {
  return Object.hasOwn(table, text)
}

/** Whether a fixed list has this text. */
export function isOneOf<N extends string>(names: readonly N[], text: string): text is N {
  return names.some((name) => name === text)
}
