/** Codecs with static payload types (RFC 3551 section 6), which need no `rtpmap`. */
const STATIC: Readonly<Record<string, string>> = {
  0: 'PCMU',
  3: 'GSM',
  4: 'G723',
  7: 'LPC',
  8: 'PCMA',
  9: 'G722',
  12: 'QCELP',
  15: 'G728',
  18: 'G729',
};

/** Codec names, upper case, of all audio in a session description (RFC 8866 section 6.6). */
export function audioCodecs(sdp: string): ReadonlySet<string> {
  const codecs = new Set<string>();
  for (const media of sdp.split(/^(?=m=)/m)) {
    const formats = /^m=audio [1-9]\d*(?:\/\d+)? \S+ (.*)/.exec(media)?.[1]?.trim().split(/\s+/) ?? [];
    const names = new Map([...media.matchAll(/^a=rtpmap:(\d+) +([^/\s]+)/gm)].map(([, type, name]) => [type, name]));
    for (const format of formats) {
      const name = names.get(format) ?? STATIC[format];
      if (name !== undefined) codecs.add(name.toUpperCase());
    }
  }
  return codecs;
}

/** Codec names, upper case, in a FreeSWITCH list: `PCMU@8000h@20i,opus,CORE_PCM_MODULE.PCMA@8000h`. */
export function listedCodecs(list: string): ReadonlySet<string> {
  const names = list.split(',').map((entry) => /(?:^|\.)([^.@]+)(?:@|$)/.exec(entry.trim())?.[1] ?? '');
  return new Set(names.filter((name) => name !== '').map((name) => name.toUpperCase()));
}
