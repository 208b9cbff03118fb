export function WorkspaceAccessPage() {
  return null
}
