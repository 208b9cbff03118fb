import { reachOf } from '../access/granted-places-store.ts'
import { conflict, invalid, invalidBy } from '../core/errors.ts'
import { dryRunOfPlaces } from '../effective-access/place-dry-run.ts'
import { placeOfProject } from '../effective-access/places.ts'
import { done } from '../http/outcome.ts'
import { read } from '../http/read-route.ts'
import type { Route } from '../http/route.ts'
import { write } from '../http/write-route.ts'
import { besideTakenName, nameIsTaken, tooMany } from '../jsonapi/body.ts'
import { organizationWithGrantsPlace } from '../organizations/organization-place.ts'
import { recorded, setTagBindings } from '../tag-bindings/tag-bindings.ts'
import { countWorkspaces } from '../workspaces/workspace-list-store.ts'
import { include, projectDocument } from './project-document.ts'
import { projectPlace } from './project-place.ts'
import {
  countProjects,
  deleteProject,
  findProjectByName,
  hasWorkspaces,
  insertProject,
  updateProject,
} from './project-store.ts'
import {
  mergeProjectSettings,
  newProjectBody,
  projectBody,
  projectColumns,
  readNewProject,
  readProject,
} from './projects.ts'

const NAME_IS_TAKEN = nameIsTaken('project')

export const projectRoutes: readonly Route[] = [
  write(organizationWithGrantsPlace, '/projects', {
    method: 'POST',
    status: 201,
    permission: 'project:create',
    summary: 'Create a project',
    answers: 'projects',
    accepts: newProjectBody,
    keepsAccess: true,
    body: (bytes, { config }) => readNewProject(bytes, config),
    isOneInsert: ({ changes }) => changes.tagBindings === undefined,
    problems: async ({ tx, deps, resource: { organization }, body, problems }) => {
      const { maxProjects } = deps.config
      if ((await countProjects(tx, organization.id)) + (tx.beside ?? 0) >= maxProjects) {
        problems.push(tooMany('projects', maxProjects))
      }
      await besideTakenName(problems, NAME_IS_TAKEN, body.changes.name, (name) =>
        findProjectByName(tx, organization.id, name),
      )
    },
    act: async (context) => {
      const { tx, deps, resource, body, now } = context
      const { changes } = body
      const project = await insertProject(tx, {
        id: deps.newId('project'),
        organization_id: resource.organization.id,
        ...projectColumns(changes),
        name: changes.name,
        settings: mergeProjectSettings('{}', changes),
        created_at: now,
        updated_at: now,
      })
      if (project === undefined) throw invalidBy(NAME_IS_TAKEN)
      const tagged = { column: 'project_id', id: project.id } as const
      await setTagBindings(context, project.organization_id, tagged, changes.tagBindings)
      return done(project, { action: 'project.create', details: { name: project.name } })
    },
    document: projectDocument,
  }),

  read(projectPlace, '', {
    permission: 'project:read',
    summary: 'Show a project',
    query: include,
    answers: 'projects',
    isPolled: true,
    document: async (context) => {
      const { tx, resource } = context
      if (reachOf('workspace:read', context) !== 'everything') {
        await context.willLookAt(() => countWorkspaces(tx, resource.organization.id))
      }
      return projectDocument({ ...context, result: resource.project })
    },
  }),

  write(projectPlace, '', {
    method: 'PATCH',
    status: 200,
    permission: 'project:manage',
    summary: 'Update a project',
    answers: 'projects',
    accepts: projectBody,
    keepsAccess: true,
    body: (bytes, { address, config }) => readProject(bytes, config, address?.id),
    problems: ({ tx, resource: { organization, project }, body, problems }) =>
      besideTakenName(
        problems,
        NAME_IS_TAKEN,
        body.changes.name,
        (name) => findProjectByName(tx, organization.id, name),
        project.id,
      ),
    act: async (context) => {
      const { tx, resource, body, now } = context
      const { organization, project } = resource
      const { changes } = body
      const updated = await updateProject(tx, project.id, {
        ...projectColumns(changes),
        settings: mergeProjectSettings(project.settings, changes),
        updated_at: now,
      })
      if (updated === undefined) throw invalidBy(NAME_IS_TAKEN)
      const tagged = { column: 'project_id', id: project.id } as const
      await setTagBindings(context, organization.id, tagged, changes.tagBindings)
      const details = { name: updated.name, changes: recorded(changes) }
      return done(updated, { action: 'project.update', details })
    },
    document: projectDocument,
  }),

  write(projectPlace, '', {
    method: 'DELETE',
    status: 204,
    permission: 'project:manage',
    summary: 'Delete a project that holds no workspaces',
    refuses: [409],
    dryRun: (context) => {
      const { organization, project } = context.resource
      const places = [placeOfProject(project)]
      return dryRunOfPlaces(context, { organization, id: project.id, places })
    },
    act: async ({ tx, resource: { organization, project } }) => {
      if (project.id === organization.default_project_id) {
        throw invalid('the default project cannot be deleted')
      }
      if (await hasWorkspaces(tx, project.id)) {
        throw conflict('the project holds workspaces: move them to another one or delete them first')
      }
      await deleteProject(tx, project.id)
      return done(project, { action: 'project.delete', details: { name: project.name } })
    },
  }),
]
