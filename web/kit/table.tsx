import type { ReactNode } from 'react'
import styles from './kit.module.css'

/**
 * A table with the headings of its columns, at most four. On a narrow screen each row is a card, and each cell is
 * labelled with its heading.
 * @param children its rows, each cell in the order of the columns
 */
export function Table({
  columns,
  children,
}: {
  readonly columns: readonly string[]
  readonly children: ReactNode
}) {
  // The style sheet reads the labels.
  const labels: Record<string, string> = {}
  for (const [index, name] of columns.entries()) labels[`--column-${index + 1}`] = `'${name}'`
  return (
    <table className={styles.table} style={labels}>
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}
