/** The door of this room: what other rooms use of it. */
export { FirstAnswers } from './first-answers.ts';
