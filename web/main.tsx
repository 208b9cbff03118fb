import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { ApiError } from './api/errors.ts'
import './kit/tokens.css'
import { createPages } from './routes.tsx'

const MAX_TRIES = 3

const queries = new QueryClient({
  defaultOptions: {
    // By default, what is done without a network waits, without a word, and is done when nobody expects it any more.
    mutations: { networkMode: 'always' },
    queries: {
      networkMode: 'always',
      refetchOnReconnect: true,
      // 503 says that the server can answer again soon. Other errors stay.
      retry: (count, error) => count < MAX_TRIES && error instanceof ApiError && error.status === 503,
      retryDelay: (_, error) => 1_000 * (error instanceof ApiError ? (error.retryAfter ?? 1) : 1),
    },
  },
})
const pages = createPages(queries)

const place = document.getElementById('root')
if (place !== null) {
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={pages} />
      </QueryClientProvider>
    </StrictMode>,
  )
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createPages>
  }
}
