import type { TestServer } from './server.ts'

/** The details of the audit events of this action about this object, oldest first. Events of the site are in no answer. */
export async function auditDetailsOf(
  { app }: TestServer,
  action: string,
  resourceId: string,
): Promise<unknown[]> {
  const rows = await app.deps.database.read((tx) =>
    tx.db
      .selectFrom('audit_events')
      .where('action', '=', action)
      .where('resource_id', '=', resourceId)
      .orderBy('number')
      .select('details')
      .execute(),
  )
  return rows.map(({ details }) => JSON.parse(details) as unknown)
}
