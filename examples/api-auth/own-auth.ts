import { type AuthFactory, withHeader } from '../../src/api/custom-code.ts';

/** A bearer token by hand: the place to sign requests, or to log in first. */
export const auth: AuthFactory = ({ token }) => ({
  apply: (request) => ({ request: withHeader(request, 'Authorization', `Bearer ${token}`), ticket: 'static' }),
  onUnauthorized: async () => false,
});
