import { useLayoutEffect, useState } from 'react'
import { Button } from '../kit/button.tsx'
import { FindDialog } from './find-dialog.tsx'

/** The button and the keys that open the search over everything: `/` and Ctrl-K. */
export function Find({ organization }: { readonly organization: string | undefined }) {
  const [isOpen, setOpen] = useState(false)
  // A key that is pressed as soon as the page is there counts, too. An effect may run later.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!isFindKey(event) || document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      setOpen(true)
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
  return (
    <>
      <Button aria-keyshortcuts="/ Control+K" onClick={() => setOpen(true)}>
        Find … <kbd>/</kbd>
      </Button>
      {isOpen ? <FindDialog organization={organization} onClose={() => setOpen(false)} /> : null}
    </>
  )
}

/** In a field `/` is a letter, Ctrl-K still finds. */
function isFindKey({ key, ctrlKey, metaKey, altKey, target }: KeyboardEvent): boolean {
  if (altKey) return false
  if (ctrlKey || metaKey) return key === 'k'
  return key === '/' && !(target instanceof Element && target.matches('input, textarea, select'))
}
