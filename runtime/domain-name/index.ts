/** Names of domains: compared regardless of case where they come in, and with `===` everywhere else. */

declare const brand: unique symbol;

/** The name of a domain as the directory spells it (`Directory.domain`). Two names are the same domain when they are `===`. */
export type DomainName = string & { readonly [brand]: 'DomainName' };

/** The domain name of objects without a domain. */
export const NO_DOMAIN = asDomainName('');

/**
 * Marks a name that has the directory's spelling already: from a row of the table of domains, or in a test. Names from
 * outside go through `Directory.domain` instead.
 */
export function asDomainName(name: string): DomainName {
  return name as DomainName;
}

/** The key of a name that no directory resolves, such as a folder's, a URI's host or one in a file of the operator. */
export function domainKey(name: string): string {
  return name.toLowerCase();
}
