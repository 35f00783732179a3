/** Express splits or rewrites a target at these characters and then routes by the rest. */
const AMBIGUOUS = /[#\s]/;

/**
 * The path and query of a request target, without a fragment, in a form that Express does not rewrite. Accepts the absolute form
 * too (RFC 9112, section 3.2).
 */
export function originForm(target: string): string {
  if (target.startsWith('/')) {
    if (!AMBIGUOUS.test(target)) return target;
    return target.replace(/#.*/s, '').replace(/\s/g, encodeURIComponent);
  }
  const url = URL.parse(target);
  return url?.pathname.startsWith('/') ? url.pathname + url.search : '/';
}
