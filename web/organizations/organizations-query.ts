import { queryOptions } from '@tanstack/react-query'
import { request, type Page } from '../api/client.ts'

type Organization = { readonly name: string; readonly email: string }

export const organizationsQuery = queryOptions({
  queryKey: ['organizations'],
  queryFn: ({ signal }) => request<Page<Organization>>('/organizations?page[size]=100', { signal }),
})
