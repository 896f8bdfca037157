/** Reads Replaces: the dialog to be replaced, as named by its far end (RFC 3891 section 6.1). */
export interface Replaces {
  readonly callId: string;
  /** The tag of the request's receiver. */
  readonly toTag: string;
  readonly fromTag: string;
  /** True: only while the call is unanswered. */
  readonly earlyOnly: boolean;
}

/** This side's tags of a SIP dialog (RFC 3261 section 12); empty for an absent one (RFC 2543). */
export interface DialogTags {
  readonly local: string;
  readonly remote: string;
}

const CALL_ID = /^[^\s,]+$/;
const PARAM = /^([^\s=,]+)(?:\s*=\s*([^\s,]+))?$/;

/** Reads a Replaces value, `callid;to-tag=..;from-tag=..`; undefined without exactly one of each. */
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

/** True when a SIP dialog of that Call-ID has both tags (RFC 3891 section 3). */
export function namesDialog({ toTag, fromTag }: Replaces, { local, remote }: DialogTags): boolean {
  return sameTag(toTag, local) && sameTag(fromTag, remote);
}

/** A tag of zero also matches an RFC 2543 phone, which has none. */
function sameTag(named: string, tag: string): boolean {
  return named === tag || (named === '0' && tag === '');
}
