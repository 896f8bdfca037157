/** RTP packets (RFC 3550 section 5.1) and telephone-events (RFC 4733 section 2.3). */

export interface RtpPacket {
  readonly payloadType: number;
  readonly marker: boolean;
  readonly sequence: number;
  readonly timestamp: number;
  readonly ssrc: number;
  readonly payload: Buffer;
}

/** Whether these are RTCP packets, by the types reserved in RFC 5761 section 4. */
export function isRtcp(data: Buffer): boolean {
  const type = data.length < 8 ? 0 : data.readUInt8(1);
  return type >= 192 && type <= 223;
}

/** Reads a packet; undefined unless it is RTP version 2. CSRCs, extension and padding are skipped. */
export function parseRtp(data: Buffer): RtpPacket | undefined {
  if (data.length < 12 || data.readUInt8(0) >> 6 !== 2) return undefined;
  const first = data.readUInt8(0);
  let start = 12 + (first & 0x0f) * 4;
  if ((first & 0x10) !== 0) {
    if (data.length < start + 4) return undefined;
    start += 4 + data.readUInt16BE(start + 2) * 4;
  }
  const end = (first & 0x20) !== 0 ? data.length - data.readUInt8(data.length - 1) : data.length;
  if (start > end) return undefined;
  return {
    payloadType: data.readUInt8(1) & 0x7f,
    marker: (data.readUInt8(1) & 0x80) !== 0,
    sequence: data.readUInt16BE(2),
    timestamp: data.readUInt32BE(4),
    ssrc: data.readUInt32BE(8),
    payload: data.subarray(start, end),
  };
}

export function serialiseRtp(packet: RtpPacket): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt8(0x80, 0);
  head.writeUInt8((packet.marker ? 0x80 : 0) | packet.payloadType, 1);
  head.writeUInt16BE(packet.sequence & 0xffff, 2);
  head.writeUInt32BE(packet.timestamp >>> 0, 4);
  head.writeUInt32BE(packet.ssrc >>> 0, 8);
  return Buffer.concat([head, packet.payload]);
}

export const EVENT_DIGITS = '0123456789*#ABCD';

export interface TelephoneEvent {
  readonly digit: string;
  readonly end: boolean;
  /** Timestamp units (1/8000 s). */
  readonly duration: number;
}

/** Reads a telephone-event payload; undefined unless it is a DTMF digit. */
export function parseEvent(payload: Buffer): TelephoneEvent | undefined {
  if (payload.length < 4) return undefined;
  const digit = EVENT_DIGITS[payload.readUInt8(0)];
  if (digit === undefined) return undefined;
  return { digit, end: (payload.readUInt8(1) & 0x80) !== 0, duration: payload.readUInt16BE(2) };
}

export function serialiseEvent(event: TelephoneEvent): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt8(EVENT_DIGITS.indexOf(event.digit), 0);
  payload.writeUInt8((event.end ? 0x80 : 0) | 10, 1);
  payload.writeUInt16BE(event.duration, 2);
  return payload;
}
