import type { Migration } from 'kysely/migration'
import { runScript } from '../portable.ts'

/** The blocks in which team names are searched hold twice as many (BLOCK_SIZE): fewer are looked at for each search. */
export const widerTeamBlocks: Migration = {
  async up(db) {
    await runScript(db, 'WIDER_TEAM_BLOCKS')
  },
}
