/** Ends the calls of a removed domain. */
import type { DomainName } from '../../domain-name/index.ts';
import type { DialogScope } from '../../callstore/index.ts';

/** Finds and ends the live calls and conferences of a domain. */
export interface DomainCalls {
  readonly calls: { list(scope: DialogScope): Promise<readonly { readonly dialogid: string }[]> };
  readonly dialogs: { find(domain: DomainName, dialogid: string): { terminate(): void } | undefined };
  readonly conferences: { list(scope: DialogScope): Promise<readonly { readonly confid: string }[]> };
  readonly control: { terminate(confid: string): boolean };
}

/**
 * Ends the live calls and conferences of a removed domain. They are found by its name, and a new domain of the same name
 * must not find them. Settles when each of them is being ended.
 */
export async function endCallsOf(
  domain: DomainName,
  { calls, dialogs, conferences, control }: DomainCalls,
): Promise<void> {
  for (const { confid } of await conferences.list({ domain })) control.terminate(confid);
  for (const { dialogid } of await calls.list({ domain })) dialogs.find(domain, dialogid)?.terminate();
}
