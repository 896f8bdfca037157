/** The module that the server joins (`../jssip.ts`). */
export { C, UA, WebSocketInterface } from 'jssip';
