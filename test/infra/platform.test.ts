/** Tests that share the platforms that they synthesize. */
import "./platform/account-rules";
import "./platform/cost";
import "./platform/data";
import "./platform/references";
import "./platform/roles";
import "./platform/upgrade";
import "./platform/workflow";
import "./platform/nag"; // The last one, because it synthesizes the platforms with further rules.
