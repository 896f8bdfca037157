/** The dialog that is to be replaced, as its far end names it (RFC 3891 section 6.1). */
export interface Replaces {
  readonly callId: string;
  /** The tag of whoever receives the request. */
  readonly toTag: string;
  readonly fromTag: string;
  /** Only while the call is not answered. */
  readonly earlyOnly: boolean;
}

/** Tags of a SIP dialog as this side has them (RFC 3261 section 12); empty for one that was not given (RFC 2543). */
export interface DialogTags {
  readonly local: string;
  readonly remote: string;
}

const CALL_ID = /^[^\s,]+$/;
const PARAM = /^([^\s=,]+)(?:\s*=\s*([^\s,]+))?$/;

/** Reads a Replaces value, `callid;to-tag=..;from-tag=..`; undefined when it has not exactly one of each. */
export function parseReplaces(value: string): Replaces | undefined {
  const [callId = '', ...rest] = value.split(';').map((part) => part.trim());
  if (!CALL_ID.test(callId)) return undefined;
  const params = new Map<string, string>();
  for (const part of rest) {
    const [, name = '', text = ''] = PARAM.exec(part) ?? [];
    const key = name.toLowerCase();
    if (key === '' || params.has(key)) return undefined;
    params.set(key, text);
  }
  const toTag = params.get('to-tag') ?? '';
  const fromTag = params.get('from-tag') ?? '';
  if (toTag === '' || fromTag === '') return undefined;
  return { callId, toTag, fromTag, earlyOnly: params.has('early-only') };
}

/** Whether a SIP dialog of that Call-ID is the one that is named: both tags are its own (RFC 3891 section 3). */
export function namesDialog({ toTag, fromTag }: Replaces, { local, remote }: DialogTags): boolean {
  return sameTag(toTag, local) && sameTag(fromTag, remote);
}

/** A tag of zero is that of an RFC 2543 phone too, which has none. */
function sameTag(named: string, tag: string): boolean {
  return named === tag || (named === '0' && tag === '');
}
