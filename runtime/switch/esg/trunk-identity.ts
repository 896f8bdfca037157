/** How callers are named between a provider and this platform (RFC 3323, RFC 3325). */
import type { Provider } from '../../domain/index.ts';
import { ANONYMOUS, nameAddr, WITHHELD } from '../../signalling/index.ts';
import type { CallerName, ShownCaller } from '../legs/shown-caller.ts';
import { callerOutside } from './number-rules.ts';

const HEADERS = { asserted: 'P-Asserted-Identity', preferred: 'P-Preferred-Identity' } as const;

/**
 * The headers that name the caller to a provider. A withheld caller is named only in the header that the provider keeps to
 * itself, and to no provider that takes none.
 */
export function identityHeaders(
  provider: Provider,
  { number, name, asserted }: ShownCaller,
): Readonly<Record<string, string>> {
  const isWithheld = number === ANONYMOUS;
  const known: CallerName | undefined = isWithheld ? asserted : { number, name };
  const { send } = provider.identity;
  return {
    ...(isWithheld && WITHHELD),
    ...(send !== 'none' &&
      known !== undefined && {
        [HEADERS[send]]: nameAddr(known.name, callerOutside(provider, known.number), provider.fromDomain),
      }),
  };
}
