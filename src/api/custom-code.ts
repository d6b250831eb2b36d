/** What paginators and auth written in code are made with. */
export { type Auth, type AuthTools, withHeader } from './auth/auth.ts';
export type { AuthFactory } from './auth/create-auth.ts';
export type { CodePaginator, CodePaginatorFactory } from './paginate/code.ts';
export { withPageValue, withParam } from './paginate/edit-request.ts';
export type { PageRequest, PageResponse, PageState } from './paginate/paginator.ts';
