/** Which servers webhooks may be sent to. */
import { isIP } from 'node:net';

/** The operator's decision about addresses. */
export interface Addresses {
  /** True for public and for listed addresses. */
  mayReach(address: string): boolean;
  /** True for addresses in RINGMASTER_WEBHOOK_NETWORKS. */
  isListed(address: string): boolean;
}

const SETTING = 'RINGMASTER_WEBHOOK_NETWORKS';

/**
 * The reason for refusing an address; undefined for a good one.
 *
 * @param shown the host as the webhook names it: addresses of internal names are no business of its author
 */
export function addressProblem(
  address: string,
  protocol: string,
  addresses: Addresses,
  shown = address,
): string | undefined {
  if (!addresses.mayReach(address)) return `${shown} is not public: the operator allows networks by ${SETTING}`;
  if (protocol === 'https:' || addresses.isListed(address)) return undefined;
  return `plain HTTP is only for the networks that the operator allows by ${SETTING}; use https`;
}

/** The mistake in a webhook's URL, as far as it shows before the name is resolved. */
export function urlProblem(text: string, addresses: Addresses): string | undefined {
  if (!URL.canParse(text)) return 'is no URL';
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password';
  if (url.hash !== '') return 'must not have a fragment';
  const address = addressOf(url);
  return address === undefined ? undefined : addressProblem(address, url.protocol, addresses);
}

/** The address in a URL; undefined for a name. */
export function addressOf({ hostname }: URL): string | undefined {
  const address = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(address) === 0 ? undefined : address;
}
