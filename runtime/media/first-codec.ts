/** The codec with which a channel begins that makes the offer. */
import { type CodecName, withBestCodec } from './codec-order.ts';

/** Between this room's two ends of drachtio-fsmrf, which passes on headers alone; never sent. */
const HEADER = 'X-First-Codec';

/** Headers of a new endpoint. */
export function firstCodecHeaders(codec: CodecName | undefined): Readonly<Record<string, string>> {
  return codec === undefined ? {} : { [HEADER]: codec };
}

interface UacOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The application object for drachtio-fsmrf, which answers the media server's offer by the wanted codec alone: a far end that takes it
 * too, as most do, finds a channel that need not change it.
 * @param srf takes an option `answer`, which makes the answer of an offer in a 200
 */
export function answeringByFirstCodec(srf: object): object {
  const agent = srf as { createUAC(uri: string, options: object, ...rest: unknown[]): unknown };
  const createUAC = (uri: string, options: UacOptions, ...rest: unknown[]): unknown => {
    const { [HEADER]: codec, ...headers } = options.headers ?? {};
    if (codec === undefined) return agent.createUAC(uri, options, ...rest);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of firstCodecHeaders
    const wish = { order: [codec as CodecName], only: false };
    return agent.createUAC(
      uri,
      { ...options, headers, answer: (offer: string) => withBestCodec(offer, wish) },
      ...rest,
    );
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an object has an object as its prototype
  return Object.assign(Object.create(srf) as object, { createUAC });
}
