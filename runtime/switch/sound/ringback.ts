/** What a party hears while the target of a transfer rings: the ringback tone, teletone notation. */
export const RINGBACK = 'tone_stream://%(1000,4000,425);loops=-1';
