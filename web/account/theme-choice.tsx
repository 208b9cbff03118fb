import { useState } from 'react'
import styles from '../kit/kit.module.css'

const A_YEAR_S = 31_536_000

const themes = [
  ['system', 'as the system'],
  ['light', 'light'],
  ['dark', 'dark'],
] as const
type Theme = (typeof themes)[number][0]

function remember(theme: Theme): void {
  const age = theme === 'system' ? 0 : A_YEAR_S
  // The server reads it before the document is sent. The newer interface for cookies needs https.
  // oxlint-disable-next-line unicorn/no-document-cookie
  document.cookie = `purser-theme=${theme}; Path=/app; Max-Age=${age}; SameSite=Lax`
  const { dataset } = document.documentElement
  if (theme === 'system') delete dataset.theme
  else dataset.theme = theme
}

/** Light or dark, in this browser. */
export function ThemeChoice() {
  const [theme, setTheme] = useState<string>(document.documentElement.dataset.theme ?? 'system')
  return (
    <fieldset className={styles.choices}>
      <legend>Colours, in this browser</legend>
      {themes.map(([name, words]) => (
        <label key={name}>
          <input
            type="radio"
            name="theme"
            checked={theme === name}
            onChange={() => {
              remember(name)
              setTheme(name)
            }}
          />{' '}
          {words}
        </label>
      ))}
    </fieldset>
  )
}
