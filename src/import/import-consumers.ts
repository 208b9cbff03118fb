import { consumersPath } from './both-sides.ts'
import { forEach, readOf, SOME_AT_ONCE, orReport, type Context } from './context.ts'
import type { WorkspaceRecord } from './records.ts'

const CONSUMERS_A_REQUEST = 1000

/** Copies which workspaces may read each other's states. Runs after all workspaces exist here. */
export async function importConsumers(
  context: Context,
  workspaces: readonly WorkspaceRecord[],
): Promise<void> {
  const { source, target, report, organization } = context
  const kind = 'remote state consumers'
  const work = async (workspace: WorkspaceRecord) => {
    const { name } = workspace
    const place = context.workspaces.get(workspace.id)
    if (place === undefined) return
    const records = await readOf(
      context,
      kind,
      () => source.consumers(organization, workspace),
      `all of ${name}`,
    )
    const wanted = records.flatMap(({ consumerIds }) => consumerIds)
    if (wanted.length === 0) return
    const here = place.isNew ? [] : (await target.list(consumersPath(place.id))).data.map(({ id }) => id)
    const missing: string[] = []
    for (const consumer of wanted.map((id) => context.workspaces.get(id)?.id)) {
      if (consumer === undefined) report.missing(kind, name, 'a workspace that was not copied')
      else if (here.includes(consumer)) report.there(kind)
      else missing.push(consumer)
    }
    for (let start = 0; start < missing.length; start += CONSUMERS_A_REQUEST) {
      const data = missing.slice(start, start + CONSUMERS_A_REQUEST).map((id) => ({ type: 'workspaces', id }))
      await orReport(context, kind, name, async () => {
        await target.act(consumersPath(place.id), { data })
        report.copied(kind, data.length)
      })
    }
  }
  await forEach(context, kind, workspaces, work, SOME_AT_ONCE)
}
