/** Failed request of the page, which shows the message. */
export class PageFault extends Error {}
