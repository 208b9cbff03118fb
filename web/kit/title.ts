import { useEffect } from 'react'

/** Names the document of a page that has no bar above it. Not after what was shown before, which may be somebody else's. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Purser`
  }, [title])
}
