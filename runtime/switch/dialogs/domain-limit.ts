/** The limit of calls of a domain. */
import type { DomainName } from '../../domain-name/index.ts';
import type { SwitchTools } from '../tools.ts';

/** Seconds until a refused caller may try again: about the time until one of the calls ends. */
export const RETRY_AT_LIMIT = 10;

/** The limit of a domain that has as many calls as it may have, at all nodes; else undefined. */
export function limitReached(
  { directory, dialogs }: Pick<SwitchTools, 'directory' | 'dialogs'>,
  domain: DomainName,
): number | undefined {
  const { maxCalls = 0 } = directory.domain(domain) ?? {};
  return maxCalls > 0 && dialogs.countOfDomain(domain) >= maxCalls ? maxCalls : undefined;
}
