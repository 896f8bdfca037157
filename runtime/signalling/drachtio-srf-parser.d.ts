/** The parts of drachtio-srf that read SIP messages; it has no types for them. */
declare module 'drachtio-srf/lib/sip-parser/parser.js' {
  /** A message before it becomes a `SipMessage`. */
  export interface ParsedMessage {
    version?: string;
    method?: string;
    uri?: string;
    status?: number;
    reason?: string;
    /** By the names that `getHeaderName` gives. */
    headers: Record<string, string>;
    body?: string;
    payload: { readonly type: string | undefined; readonly content: string | undefined }[];
  }

  const parser: {
    /** @param lazy true: values are not read */
    parseSipMessage: (text: string, lazy: boolean) => ParsedMessage | undefined;
    /** The library's name of a header, mostly in lower case. */
    getHeaderName: (name: string) => string;
  };
  export default parser;
}

declare module 'drachtio-srf/lib/sip-parser/message.js' {
  const SipMessage: {
    readonly prototype: { headers: Record<string, string>; getHeaderName(name: string): string | undefined };
  };
  export default SipMessage;
}
