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
    if (!/^m=audio [1-9]/.test(media)) continue;
    for (const name of formatNames(media).values()) if (name !== '') codecs.add(name.split('/')[0] as string);
  }
  return codecs;
}

/**
 * The formats of an audio section in the order of its line, with name and clock, upper case: `OPUS/48000`; empty for an unknown one.
 */
export function formatNames(section: string): ReadonlyMap<string, string> {
  const formats = /^m=audio \d+(?:\/\d+)? \S+ (.*)/.exec(section)?.[1]?.trim().split(/\s+/) ?? [];
  const mapped = new Map(
    [...section.matchAll(/^a=rtpmap:(\d+) +([^/\s]+)(?:\/(\d+))?/gm)].map(([, type, name, clock = '8000']) => [
      type,
      `${name}/${clock}`,
    ]),
  );
  const nameOf = (format: string): string => mapped.get(format) ?? (format in STATIC ? `${STATIC[format]}/8000` : '');
  return new Map(formats.map((format) => [format, nameOf(format).toUpperCase()]));
}

/** Codec names, upper case, in a FreeSWITCH list: `PCMU@8000h@20i,opus,CORE_PCM_MODULE.PCMA@8000h`. */
export function listedCodecs(list: string): ReadonlySet<string> {
  const names = list.split(',').map((entry) => /(?:^|\.)([^.@]+)(?:@|$)/.exec(entry.trim())?.[1] ?? '');
  return new Set(names.filter((name) => name !== '').map((name) => name.toUpperCase()));
}
