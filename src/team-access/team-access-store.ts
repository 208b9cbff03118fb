import type { Expression, Kysely, Selectable, SqlBool } from 'kysely'
import type { Transaction } from '../database/database.ts'
import { pageOf } from '../database/pages.ts'
import { insertUnlessTaken, rowBy, updateRow } from '../database/rows.ts'
import type { Tables } from '../database/tables.ts'
import type { Page } from '../jsonapi/paging.ts'

type GrantTable = 'team_workspaces' | 'team_projects'

/** The columns of a grant that its access level and details decide. */
export type GrantColumns<T extends GrantTable> = Omit<
  Selectable<Tables[T]>,
  'id' | 'organization_id' | 'team_id' | 'workspace_id' | 'project_id' | 'created_at'
>

export type GrantFilter = {
  readonly placeId: string
  readonly teamId: string | undefined
  /** Undefined: the grants of all teams. */
  readonly shown: Expression<SqlBool> | undefined
}

/** The statements on one table of grants. `place` is the column with the workspace or project. */
export function grantStore<T extends GrantTable>(table: T, place: keyof Tables[T] & string) {
  const name: string = table
  const placeColumn: string = `${name}.${place}`
  // oxlint-disable-next-line typescript/no-explicit-any -- Kysely cannot check a statement whose table is a parameter
  const unchecked = ({ db }: Transaction): Kysely<any> => db
  return {
    find: rowBy(table, 'id'),
    /** Returns undefined if the team already has a grant on the place. */
    insert: insertUnlessTaken(table, place, 'team_id'),
    update: updateRow(table),
    remove: async (tx: Transaction, id: string): Promise<void> => {
      await unchecked(tx).deleteFrom(name).where('id', '=', id).execute()
    },
    /** A page of the grants on a place, by team name. */
    list: (tx: Transaction, filter: GrantFilter, page: Page) => {
      let query = unchecked(tx)
        .selectFrom(name)
        .innerJoin('teams', 'teams.id', `${name}.team_id`)
        .where(placeColumn, '=', filter.placeId)
      if (filter.teamId !== undefined) query = query.where(`${name}.team_id`, '=', filter.teamId)
      if (filter.shown !== undefined) query = query.where(filter.shown)
      return pageOf(query, page, (found) =>
        found.selectAll(name).orderBy('teams.name').orderBy(`${name}.id`).$castTo<Selectable<Tables[T]>>(),
      )
    },
  }
}
