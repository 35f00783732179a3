/** Characters at which Express would split or rewrite a target and then route by what is left. */
const RARE = /[#\s]/;

/**
 * The path and query of a request's target, without a fragment, in the form that Express takes as it is. Also of a target in absolute
 * form (RFC 9112, section 3.2).
 */
export function originForm(target: string): string {
  if (target.startsWith('/')) {
    if (!RARE.test(target)) return target;
    return target.replace(/#.*/s, '').replace(/\s/g, encodeURIComponent);
  }
  const url = URL.parse(target);
  return url?.pathname.startsWith('/') ? url.pathname + url.search : '/';
}
