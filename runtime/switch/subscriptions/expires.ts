/** The shortest and the longest time of a subscription or publication, seconds. */
export const MIN_EXPIRES = 60;
export const MAX_EXPIRES = 3600;
