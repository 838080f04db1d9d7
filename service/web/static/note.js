// A page for missing content, in the colours chosen on the first page.
import {applyTheme} from "./theme.js";

applyTheme();
