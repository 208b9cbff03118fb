const FOCUSABLE = 'a[href], button, input, select, textarea, summary'
const REMEMBERED = 20

/**
 * Keeps the focus on the page. Without this, browsers drop it when what has it goes away, and a screen reader begins at the
 * top. It goes to the same element if that is drawn anew, to what took its place, or to the next row of a table; else back to
 * what had it before, or to the heading. Returns what ends that.
 */
export function keepFocus(): () => void {
  /** What had the focus, the last one first. */
  let had: HTMLElement[] = []
  const isLost = () => document.activeElement === null || document.activeElement === document.body
  const remember = ({ target }: FocusEvent) => {
    if (target instanceof HTMLElement)
      had = [target, ...had.filter((one) => one !== target)].slice(0, REMEMBERED)
  }
  const leave = ({ target }: FocusEvent) =>
    queueMicrotask(() => {
      // The reader clicked beside it.
      if (target instanceof HTMLElement && target.isConnected && isLost()) had = []
    })
  const observer = new MutationObserver((records) => {
    const [lost] = had
    if (lost === undefined || lost.isConnected || !isLost()) return
    const place = records.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(lost)))
    const rows = place?.target.nodeName === 'TBODY' ? [place.nextSibling, place.previousSibling] : []
    const added = records.flatMap(({ addedNodes }) => [...addedNodes].flatMap(focusable))
    const anew = added.filter((one) => isAlike(one, lost))
    had = had.filter((one) => one.isConnected)
    for (const one of [...anew, ...added, ...rows.flatMap(focusable), ...had, heading()]) {
      one?.focus()
      if (!isLost()) return
    }
  })
  document.addEventListener('focusin', remember)
  document.addEventListener('focusout', leave)
  observer.observe(document.body, { childList: true, subtree: true })
  return () => {
    document.removeEventListener('focusin', remember)
    document.removeEventListener('focusout', leave)
    observer.disconnect()
  }
}

function focusable(node: Node | null): HTMLElement[] {
  if (!(node instanceof HTMLElement)) return []
  return [...(node.matches(FOCUSABLE) ? [node] : []), ...node.querySelectorAll<HTMLElement>(FOCUSABLE)]
}

function isAlike(one: HTMLElement, other: HTMLElement): boolean {
  return (
    one.nodeName === other.nodeName &&
    one.textContent === other.textContent &&
    one.getAttribute('name') === other.getAttribute('name')
  )
}

/** The heading of the page, which can take the focus from now on. */
export function heading(): HTMLElement | null {
  const found = document.querySelector<HTMLElement>('main h1')
  if (found !== null) found.tabIndex = -1
  return found
}
