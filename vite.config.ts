import { defineConfig } from 'vite'

// vite reads the configuration from the default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  base: '/app/~/',
  build: {
    // A `data:` address would need a weaker policy for content.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      onLog: (level, log, handle) => {
        // Libraries mark modules for servers that render pages; this one has none.
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') handle(level, log)
      },
    },
  },
})
