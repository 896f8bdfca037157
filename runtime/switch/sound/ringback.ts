/** The ringback tone that a party hears while its transfer target rings, in teletone notation. */
export const RINGBACK = 'tone_stream://%(1000,4000,425);loops=-1';
